/**
 * The wire of a ClickHouse server over the engine in this process: a stand-in where no server can be started. It is the
 * engine's SQL and the protocol of its HTTP interface; users, grants, streamed answers and clusters are not.
 * `clickhouse-front-child.ts <data folder> <port> <user> <password> [<configuration of the engine>]`; prints
 * `{"port":…}` when it listens.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { Engine, EngineError } from './clickhouse-front-engine.ts';

const [folder = '', port = '0', user = '', password = '', config] = process.argv.slice(2);
const engine = new Engine(folder, config);
const credentials = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** What a server does by the parameter itself, beside the settings of the engine. */
const ofTheWire = new Set([
  'query',
  'database',
  'query_id',
  'default_format',
  'wait_end_of_query',
  'send_progress_in_http_headers',
  'enable_http_compression',
  'http_response_buffer_size',
]);

const statusOf: Readonly<Record<number, number>> = {
  62: 400, // SYNTAX_ERROR
  60: 404, // UNKNOWN_TABLE
  81: 404, // UNKNOWN_DATABASE
  115: 404, // UNKNOWN_SETTING
  516: 403, // AUTHENTICATION_FAILED
};

const server = createServer({ maxHeaderSize: 1024 ** 2 }, (request, response) => {
  answer(request, response).catch((error: unknown) => refuse(response, error));
});
server.keepAliveTimeout = 10_000;
server.listen(Number(port), '127.0.0.1', () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));
});
process.once('SIGTERM', () => process.exit(0));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://front');
  if (pathname === '/ping') {
    response.end('Ok.\n');
    return;
  }
  const sent = await bodyOf(request);
  if (request.headers.authorization !== credentials) {
    const reason = 'password is incorrect, or there is no user with such name.';
    throw new EngineError(
      516,
      `${user}: Authentication failed: ${reason}`,
      'AUTHENTICATION_FAILED',
    );
  }
  const query = searchParams.get('query');
  const found = await engine.run({
    // As the server reads them: the statement of the address, a newline, the body.
    text: query === null ? sent : Buffer.concat([Buffer.from(`${query}\n`), sent]),
    database: searchParams.get('database') ?? 'default',
    format: searchParams.get('default_format') ?? 'TabSeparated',
    settings: [...searchParams].filter(([name]) => !ofTheWire.has(name)),
  });
  const { rowsRead, bytesRead, bytes } = found;
  response.setHeader('x-clickhouse-query-id', searchParams.get('query_id') ?? '');
  response.setHeader(
    'x-clickhouse-summary',
    JSON.stringify({ read_rows: String(rowsRead), read_bytes: String(bytesRead) }),
  );
  const isZipped =
    searchParams.get('enable_http_compression') === '1' &&
    (request.headers['accept-encoding'] ?? '').includes('gzip');
  if (isZipped) response.setHeader('content-encoding', 'gzip');
  response.end(isZipped ? await promisify(gzip)(bytes) : bytes);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const body = await buffer(request);
  return request.headers['content-encoding'] === 'gzip' ? promisify(gunzip)(body) : body;
}

function refuse(response: ServerResponse, error: unknown): void {
  const { code, message, type } =
    error instanceof EngineError ? error : new EngineError(1001, String(error), 'STD_EXCEPTION');
  response.statusCode = statusOf[code] ?? 500;
  response.setHeader('x-clickhouse-exception-code', code);
  response.end(`Code: ${code}. DB::Exception: ${message} (${type}) (version ${engine.version})\n`);
}
