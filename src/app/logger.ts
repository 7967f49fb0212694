import { destination, pino, type Logger } from 'pino';
import { traceFields } from '#control-plane/trace.ts';

/** Fields that are never written, at any depth of a log entry. */
const redacted = [
  'authorization',
  'credentials',
  'secret',
  'apiKey',
  'password',
  'access_token',
  'refresh_token',
  'client_secret',
];

/** The service's own log: JSON lines on stderr. */
export function createLogger(level: string, thread: string): Logger {
  return pino(
    {
      level,
      base: { thread },
      mixin: traceFields,
      redact: {
        paths: redacted.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
        censor: '[redacted]',
      },
    },
    destination({ fd: 2, sync: true }),
  );
}
