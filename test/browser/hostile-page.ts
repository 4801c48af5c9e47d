/**
 * A page of another server on this machine, in the browser in which the user has the page of
 * `raymond serve` open. It has another port, and perhaps another name of the machine.
 */
import { createServer } from 'node:http';
import type { Page } from 'playwright-core';

export interface HostilePage {
  /** The address of the page under a name of this machine. A cookie may be for a path only. */
  at(host: string): string;
  /** The cookies that the browser sent to it. */
  readonly cookies: ReadonlySet<string>;
  /** How many requests it got. */
  asked(): number;
  close(): Promise<void>;
}

export async function hostilePage(): Promise<HostilePage> {
  const cookies = new Set<string>();
  let asked = 0;
  const server = createServer(({ headers }, response) => {
    asked++;
    if (headers.cookie) cookies.add(headers.cookie);
    response
      .setHeader('content-type', 'text/html')
      .end('<!doctype html><script>if (opener) close()</script>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    at: (host) => `http://${host}:${port}/api/`,
    cookies,
    asked: () => asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Plays one of its tricks on a server, in a new document of the hostile page. Gives what the page could
 * read. The windows that it opened are closed.
 */
export async function tryTrick(
  page: Page,
  from: string,
  target: string,
  trick: string,
): Promise<string> {
  const before = new Set(page.context().pages());
  await page.goto(from);
  const read = await page.evaluate(`(async (target, body) => {
    const api = target + '/api';
    const element = (name, attributes) => Object.assign(document.createElement(name), attributes);
    const loaded = (one) => new Promise((resolve) => {
      one.onload = () => resolve('loaded');
      one.onerror = () => resolve('');
      document.body.append(one);
    });
    const textOf = (response) => response.text();
    const nothing = () => '';
    ${trick}
  })(${JSON.stringify(target)}, ${JSON.stringify(START)})`);
  for (const other of page.context().pages()) if (!before.has(other)) await other.close();
  return String(read ?? '');
}

/** The workflow that a hostile page wants to start. */
const START = JSON.stringify({ workflow: 'pay' });

/** Each is the body of a function in the hostile page, and returns what it could read. */
export const TRICKS: Readonly<Record<string, string>> = {
  'fetch with credentials': `
    return fetch(api + '/runs', { credentials: 'include' }).then(textOf, nothing);`,
  'fetch without CORS': `
    return fetch(api + '/runs', { credentials: 'include', mode: 'no-cors' }).then(textOf, nothing);`,
  'fetch of a page file': `
    return fetch(target + '/', { credentials: 'include', mode: 'no-cors' }).then(textOf, nothing);`,
  'a POST of JSON': `
    const headers = { 'content-type': 'application/json' };
    return fetch(api + '/runs', { method: 'POST', credentials: 'include', headers, body })
      .then(textOf, nothing);`,
  'a POST without CORS': `
    return fetch(api + '/runs', { method: 'POST', credentials: 'include', mode: 'no-cors', body })
      .then(textOf, nothing);`,
  'a guessed token': `
    const headers = { authorization: 'Bearer guessed' };
    return fetch(api + '/runs', { headers }).then(textOf, nothing);`,
  'a beacon': `
    navigator.sendBeacon(api + '/runs', new Blob([body], { type: 'text/plain' }));
    return fetch(api + '/runs', { mode: 'no-cors' }).then(textOf, nothing);`,
  'a form': `
    const frame = element('iframe', { name: 'sink' });
    const form = element('form', {
      method: 'POST', action: api + '/runs', enctype: 'text/plain', target: 'sink',
    });
    form.append(element('input', { name: body.slice(0, -1) + ',"x":"', value: '"}' }));
    document.body.append(form);
    await loaded(frame);
    const answered = new Promise((resolve) => { frame.onload = resolve; });
    form.submit();
    await answered;
    try { return frame.contentDocument.body.textContent; } catch { return ''; }`,
  'an image': `return loaded(element('img', { src: target + '/page/icon.svg' }));`,
  'a script': `return loaded(element('script', { src: target + '/page/page.js' }));`,
  'a script of the API': `return loaded(element('script', { src: api + '/runs' }));`,
  'a module': `return import(target + '/page/page.js').then(() => 'loaded', nothing);`,
  'a style sheet': `
    return loaded(element('link', { rel: 'stylesheet', href: target + '/page/page.css' }));`,
  'a frame of the page': `
    const frame = element('iframe', { src: target + '/' });
    await loaded(frame);
    try { return frame.contentDocument.body.textContent; } catch { return ''; }`,
  'an object': `return loaded(element('object', { data: target + '/' }));`,
  'an EventSource': `
    const events = new EventSource(api + '/runs/seen/events', { withCredentials: true });
    return new Promise((resolve) => {
      events.onmessage = ({ data }) => resolve(data);
      events.onerror = () => { events.close(); resolve(''); };
    });`,
  'a WebSocket': `
    const socket = new WebSocket(api.replace('http', 'ws') + '/runs/seen/events');
    return new Promise((resolve) => {
      socket.onopen = () => resolve('open');
      socket.onerror = () => resolve('');
    });`,
  'a window with messages': `
    const heard = [];
    addEventListener('message', ({ data }) => heard.push(data));
    const other = open(target + '/#/runs/seen/log');
    // The browser cuts the connection to a page that wants to be alone.
    while (!other.closed) {
      other.postMessage({ token: true }, '*');
      try { heard.push(other.sessionStorage.getItem('raymond-token')); } catch {}
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return heard.filter(Boolean).join();`,
  'a window of the API': `
    const other = open(api + '/runs');
    while (!other.closed) await new Promise((resolve) => setTimeout(resolve, 20));
    return '';`,
  'the storage and the cookies of the address': `
    return [...Object.values(sessionStorage), ...Object.values(localStorage), document.cookie].join('');`,
  'a channel with the name of the page': `
    const channel = new BroadcastChannel('raymond');
    const heard = [];
    channel.onmessage = ({ data }) => heard.push(data);
    channel.postMessage('token?');
    await fetch(location.href);
    return heard.join();`,
  'a sandboxed frame, whose origin is null': `
    const heard = new Promise((resolve) => addEventListener('message', ({ data }) => resolve(data)));
    const script = 'const get = (init) => fetch("' + api + '/runs", { credentials: "include", ...init })' +
      '.then((response) => response.text(), () => "");' +
      'const headers = { "content-type": "text/plain" };' +
      'Promise.all([get({}), get({ mode: "no-cors" }), get({ method: "POST", mode: "no-cors", headers, body: ' +
      JSON.stringify(body) + ' })]).then((texts) => parent.postMessage(texts.join(""), "*"))';
    document.body.append(element('iframe', {
      sandbox: 'allow-scripts', srcdoc: '<script>' + script + '</' + 'script>',
    }));
    return heard;`,
};
