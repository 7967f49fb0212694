import { createTransport } from 'nodemailer';
import { MailFailure, type Mailer } from '#ports/mailer.ts';

/** How long the server may take for each step of the protocol. */
const stepMs = 20_000;

/**
 * Sends mail through the server of a URL `smtp://user:password@host:port` (STARTTLS where the server offers it) or
 * `smtps://…` (TLS from the start).
 * @param from the sender's address
 */
export function createSmtpMailer(url: string, from: string): Mailer {
  const transport = createTransport({
    url,
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ to, subject, text }) {
      try {
        await transport.sendMail({ from, to, subject, text });
      } catch (error) {
        throw new MailFailure(codeOf(error), { cause: error });
      }
    },
    [Symbol.asyncDispose]() {
      transport.close();
      return Promise.resolve();
    },
  };
}

/** The reply code of the server (`SMTP_550`), or the code of the client (`ECONNECTION`). */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('responseCode' in error && typeof error.responseCode === 'number') {
    return `SMTP_${error.responseCode}`;
  }
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
