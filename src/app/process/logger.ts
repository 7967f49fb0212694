import { destination, pino, type Logger } from 'pino';
import { traceFields } from '#control-plane/trace.ts';
import { printableLines } from '#kernel/printable.ts';
import { isReadByPerson, readableLine } from './readable-lines.ts';

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

/** The service's own log on stderr: lines of JSON, or of text on a terminal. */
export function createLogger(level: string, thread: string): Logger {
  const stderr = destination({ fd: 2, sync: true });
  // oxlint-disable-next-line no-restricted-properties -- a convention of terminals, not a setting of the service
  const isColored = (process.env['NO_COLOR'] ?? '') === '';
  const shown = isReadByPerson()
    ? (line: string) => readableLine(line, { isColored })
    : printableLines;
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
    // Operators read it on terminals, with text of providers in it.
    { write: (line) => stderr.write(shown(line)) },
  );
}
