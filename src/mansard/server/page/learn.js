export function buildLessons() {}
