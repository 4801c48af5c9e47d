/** Reads a stream of server-sent events. A chunk may end anywhere, also inside of a line. */
export interface ServerEvent {
  readonly name: string;
  readonly id: string | undefined;
  readonly data: string;
}

export class ServerEventReader {
  #rest = '';
  #name = '';
  #id: string | undefined;
  #data: string[] = [];

  /** The events that the chunk completes. */
  read(chunk: string): readonly ServerEvent[] {
    const events: ServerEvent[] = [];
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const event = this.#line(line.endsWith('\r') ? line.slice(0, -1) : line);
      if (event) events.push(event);
    }
    return events;
  }

  #line(line: string): ServerEvent | undefined {
    if (line === '') return this.#end();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.#data.push(value);
    if (field === 'event') this.#name = value;
    if (field === 'id') this.#id = value;
    return undefined;
  }

  #end(): ServerEvent | undefined {
    const [name, data] = [this.#name || 'message', this.#data];
    this.#name = '';
    this.#data = [];
    return data.length > 0 ? { name, id: this.#id, data: data.join('\n') } : undefined;
  }
}
