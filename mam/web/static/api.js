// Requests to the server. One of a kind at a time: the next one cancels the one before.
const running = new Map();
const TOKEN = "mam-token";

const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  sessionStorage.setItem(TOKEN, given);
  history.replaceState(null, "", location.pathname);
}

function headers(more = {}) {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { ...more, Authorization: `Bearer ${token}` } : more;
}

export class Cancelled extends Error {}

async function request(path, options, kind) {
  running.get(kind)?.abort();
  const control = new AbortController();
  running.set(kind, control);
  try {
    const answer = await fetch(path, { ...options, headers: headers(options.headers), signal: control.signal });
    if (!answer.ok) {
      const said = await answer.json().catch(() => ({}));
      throw new Error(said.error || `the server answered ${answer.status}`);
    }
    return answer;
  } catch (error) {
    if (error.name === "AbortError") throw new Cancelled();
    if (error instanceof TypeError) throw new Error("the server does not answer; is `mam show` still running?");
    throw error;
  }
}

const asJson = (body) => ({
  method: "POST",
  body: JSON.stringify(body),
  headers: { "Content-Type": "application/json" },
});

export const cancel = (kind) => running.get(kind)?.abort();
export const about = async () => (await request("/api/about", {}, "about")).json();
export const view = async (key) => (await request(`/api/pictures/${key}`, {}, "view")).blob();
export const takeSample = async (name) =>
  (await request(`/api/samples/${encodeURIComponent(name)}`, { method: "POST" }, "upload")).json();
export const upload = async (blob, name) =>
  (await request(`/api/pictures?name=${encodeURIComponent(name.slice(-200))}`, { method: "POST", body: blob }, "upload")).json();
export const file = async (question) => (await request("/api/group/file", asJson(question), "file")).blob();
export const modelFile = async (key) => (await request(`/api/models/${key}`, {}, "model file")).blob();

// Ask and be told of the progress; server-sent events.
export async function ask(path, question, tell = () => {}) {
  const options = asJson(question);
  options.headers.Accept = "text/event-stream";
  const answer = await request(path, options, path);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) throw new Error("the answer was cut off; try again");
      text += value;
      let end;
      while ((end = text.indexOf("\n\n")) >= 0) {
        const [first, ...rest] = text.slice(0, end).split("\n");
        text = text.slice(end + 2);
        const said = JSON.parse(rest.join("\n").slice("data: ".length));
        if (first === "event: answer") return said;
        if (first === "event: error") throw new Error(said.error);
        tell(said.text);
      }
    }
  } catch (error) {
    if (error.name === "AbortError") throw new Cancelled();
    throw error;
  }
}
