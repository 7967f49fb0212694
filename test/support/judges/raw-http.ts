import { connect } from 'node:net';

/** All that came over a connection until the server closed it. */
export interface RawExchange {
  /** One for each response that is not interim. */
  readonly statuses: readonly number[];
  /** What stands between or behind whole responses; empty if each byte belongs to one. */
  readonly rest: string;
}

/**
 * Sends the segments over one connection, each after the responses that the one before it asked for, and reads until
 * the server closes. @param segments `after`: responses to wait for before the segment
 */
export function exchangeRaw(
  url: string,
  segments: readonly { readonly text: string; readonly after?: number }[],
): Promise<RawExchange> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const left = [...segments];
    let received = '';
    const sendDue = () => {
      const { statuses } = readResponses(received);
      while (left[0] !== undefined && (left[0].after ?? 0) <= statuses.length) {
        const [segment] = left.splice(0, 1);
        if (!socket.writableEnded) socket.write(Buffer.from(segment?.text ?? '', 'latin1'));
      }
    };
    socket.setEncoding('latin1').on('data', (text: unknown) => {
      received += String(text);
      sendDue();
    });
    socket.on('end', () => socket.end());
    socket.on('error', reject);
    socket.on('close', () => resolve(readResponses(received)));
    sendDue();
  });
}

/** Reads by the framing of each response alone, as a proxy in front of the gateway does. */
export function readResponses(text: string): RawExchange {
  const statuses: number[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return { statuses, rest };
    const head = rest.slice(0, end).toLowerCase();
    if (!head.startsWith('http/1.1 ')) return { statuses, rest };
    const status = Number(head.slice(9, 12));
    const body = bodyEnd(rest, end + 4, head, status);
    if (body === null) return { statuses, rest };
    rest = rest.slice(body);
    if (status >= 200) statuses.push(status);
  }
}

/** Null if the body has not come as a whole. */
function bodyEnd(text: string, start: number, head: string, status: number): number | null {
  if (status < 200 || status === 204 || status === 304) return start;
  if (head.includes('\r\ntransfer-encoding: chunked')) {
    const last = text.indexOf('0\r\n\r\n', start);
    return last < 0 ? null : last + 5;
  }
  const length = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? Number.NaN);
  return start + length <= text.length ? start + length : null;
}
