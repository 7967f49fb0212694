/**
 * A receiver of webhooks in a process of its own: it answers at once, except below `/hang` and, when asked, below `/maybe`, and
 * lists the arrivals on request. Times are of the machine's monotonic clock, which all processes share.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Id, path, and the time in ms. */
export type Arrival = readonly [id: string, path: string, at: number];

let arrivals: Arrival[] = [];
let answered = 0;
let isHanging = false;

const server = createServer((request, response) => {
  const at = Number(process.hrtime.bigint()) / 1e6;
  const path = request.url ?? '/';
  request.resume();
  request.on('end', () => {
    arrivals.push([String(request.headers['webhook-id']), path, at]);
    if (path.startsWith('/hang') || (isHanging && path.startsWith('/maybe'))) return;
    answered += 1;
    response.writeHead(200, { 'content-length': '2' }).end('ok');
  });
});
server.keepAliveTimeout = 60_000;

process.on('message', (question) => {
  if (question === 'count') process.send?.(answered);
  else if (question === 'hang' || question === 'answer') {
    isHanging = question === 'hang';
    process.send?.(isHanging);
  } else {
    process.send?.(arrivals);
    arrivals = [];
    answered = 0;
  }
});

// Each address 127.x.y.z is another host.
server.listen(0, '0.0.0.0', () => {
  process.send?.((server.address() as AddressInfo).port);
});
