import { systemClock } from '../../../kernel/time.ts';
import { logClosed } from './failure.ts';
import Connection from 'kafkajs/src/network/connection.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

/** How long a request that waits for room on a connection waits until the next look (kafkajs' own figure). */
const checkEveryMs = 10;

/**
 * An idle connection of kafkajs arms a timer of about a millisecond for ever (tulios/kafkajs#1751). This
 * arms one only while requests wait, and never with a negative delay.
 */
RequestQueue.prototype.scheduleCheckPendingRequests = function schedule(this: RequestQueue): void {
  if (this.throttleCheckTimeoutId !== null || this.pending.length === 0) return;
  const delayMs = Math.max(this.throttledUntil - systemClock.now(), checkEveryMs);
  this.throttleCheckTimeoutId = setTimeout(() => {
    this.throttleCheckTimeoutId = null;
    this.checkPendingRequests();
  }, delayMs);
};

const connecting = new WeakMap<Connection, Promise<boolean>>();
const ended = new WeakSet<Connection>();
const connectAlone = Connection.prototype.connect;

/** Breaks off what is under way; nothing opens the connection again. kafkajs would wait for answers first. */
export function endConnection(connection: Connection, why: Error): void {
  ended.add(connection);
  connection.rejectRequests(why);
  void connection.disconnect();
  connection.socket?.destroy();
}

/** Requests that find a connection closed each open a socket of their own, and all but one leak: share one. */
Connection.prototype.connect = function connect(this: Connection): Promise<boolean> {
  if (ended.has(this)) return Promise.reject(logClosed());
  const present = connecting.get(this);
  if (present !== undefined) return present;
  const opening = connectAlone.call(this).finally(() => connecting.delete(this));
  connecting.set(this, opening);
  return opening;
};
