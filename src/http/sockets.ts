import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Coordination } from '#ports/coordination.ts';
import { takeQuota } from './rate-limit.ts';
import type { ServerServices } from './server-services.ts';

/**
 * The path of the WebSocket that reports the outcome of an authorization to a page
 * (docs/reference/http.md#sign-in-by-redirect).
 */
export const socketsPath = '/';

/** A message to a page. Contains no secret. */
export type SocketMessage =
  | {
      readonly message_type: 'success';
      readonly provider_config_key: string;
      readonly connection_id: string;
      readonly is_pending: boolean;
    }
  | {
      readonly message_type: 'error';
      readonly provider_config_key: string;
      readonly connection_id: string;
      readonly error_type: string;
      readonly error_desc: string;
      readonly log_id?: string;
      readonly provider_error?: string;
      readonly provider_error_description?: string;
      readonly reason?: string;
      readonly fix?: string;
    };

/** The callback may reach another node than the one that holds the socket: every node subscribes to this channel. */
const channel = 'connect-results';
const socketsMax = 10_000;
/** Same as the lifetime of a connect session. */
const openAtMostMs = 30 * 60_000;
const pingEveryMs = 30_000;
/** A page sends no messages. */
const messageBytesMax = 1024;

export interface Sockets extends AsyncDisposable {
  /** Answers an upgrade on the server. Never rejects. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
}

/** Sends the message to the page, on whichever node its socket is; lost if the page is gone. */
export async function notifySocket(
  coordination: Coordination,
  socketId: string,
  message: SocketMessage,
): Promise<void> {
  await coordination.publish(channel, JSON.stringify({ socketId, message }));
}

/** Other upgrade requests, such as to HTTP/2, are ignored: the request is answered without an upgrade. */
export const isSocketRequest = ({ url = '/', headers }: IncomingMessage): boolean =>
  url.split('?', 1)[0] === socketsPath && headers.upgrade?.toLowerCase() === 'websocket';

export async function openSockets(services: ServerServices): Promise<Sockets> {
  const open = new Map<string, WebSocket>();
  const server = new WebSocketServer({ noServer: true, maxPayload: messageBytesMax });
  const subscription = await services.coordination.subscribe(channel, (text) => {
    const { socketId, message } = JSON.parse(text) as {
      socketId: string;
      message: SocketMessage;
    };
    open.get(socketId)?.send(JSON.stringify(message));
  });

  return {
    async upgrade(request, socket, head) {
      const address = `address:${request.socket.remoteAddress ?? 'unknown'}`;
      const { refusal } = await takeQuota(services, address, {
        cost: 1,
        limit: services.settings.rateLimitPerMinute,
      });
      if (refusal !== null) refuse(socket, '429 Too Many Requests');
      else if (open.size >= socketsMax) refuse(socket, '503 Service Unavailable');
      else server.handleUpgrade(request, socket, head, (accepted) => welcome(accepted, open));
    },
    async [Symbol.asyncDispose]() {
      await subscription[Symbol.asyncDispose]();
      for (const socket of open.values()) socket.terminate();
      server.close();
    },
  };
}

function welcome(socket: WebSocket, open: Map<string, WebSocket>): void {
  const id = randomUUID();
  open.set(id, socket);
  let isAlive = true;
  const pinging = setInterval(() => {
    if (isAlive) socket.ping();
    else socket.terminate();
    isAlive = false;
  }, pingEveryMs);
  const ending = setTimeout(() => socket.close(1000), openAtMostMs);
  pinging.unref();
  ending.unref();
  socket.on('pong', () => {
    isAlive = true;
  });
  socket.on('error', () => socket.terminate());
  socket.once('close', () => {
    open.delete(id);
    clearInterval(pinging);
    clearTimeout(ending);
  });
  socket.send(JSON.stringify({ message_type: 'connection_ack', ws_client_id: id }));
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
