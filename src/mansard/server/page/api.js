// Requests to the server. Only the last one of a kind counts: what comes late for an older question is dropped.

const latest = new Map();

export class Refused extends Error {
  constructor(error) {
    super(error.message);
    this.hint = error.hint;
    this.faults = error.faults ?? [];
  }
}

async function answered(path, body, signal) {
  const response = await fetch(path, {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal,
  });
  if (response.ok) return response;
  let error = { message: `the server answered ${response.status}`, hint: "", faults: [] };
  try { error = (await response.json()).error; } catch { /* no JSON: the status says it */ }
  throw new Refused(error);
}

export async function post(path, body) {
  return (await answered(path, body)).json();
}

export async function text(path, body) {
  return (await answered(path, body)).text();
}

// The answer, or null if a newer question of the same kind has been asked meanwhile.
export async function newest(kind, path, body) {
  latest.get(kind)?.abort();
  const mine = new AbortController();
  latest.set(kind, mine);
  try {
    const found = await (await answered(path, body, mine.signal)).json();
    return latest.get(kind) === mine ? found : null;
  } catch (error) {
    if (error.name === "AbortError" || latest.get(kind) !== mine) return null;
    throw error;
  }
}
