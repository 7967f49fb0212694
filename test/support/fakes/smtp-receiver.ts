import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface SmtpReceiver extends AsyncDisposable {
  /** With the user and password that it accepts. */
  readonly url: string;
  /** Mails that were accepted, as they came. */
  readonly mails: readonly { readonly to: readonly string[]; readonly text: string }[];
  /** Recipients that it refuses. */
  readonly refused: Set<string>;
}

/** A mail server on a free port of this machine. */
export async function openSmtpReceiver(password: string): Promise<SmtpReceiver> {
  const mails: { to: string[]; text: string }[] = [];
  const refused = new Set<string>();
  const server = new SMTPServer({
    authOptional: false,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (auth, _session, done) =>
      auth.password === password
        ? done(null, { user: 'svc' })
        : done(new Error('Not the password.')),
    onRcptTo: ({ address }, _session, done) =>
      refused.has(address)
        ? done(Object.assign(new Error('No such mailbox.'), { responseCode: 550 }))
        : done(),
    onData: (stream, { envelope }, done) => {
      void stream.toArray().then((chunks: Buffer[]) => {
        const to = envelope.rcptTo.map(({ address }) => address);
        mails.push({ to, text: Buffer.concat(chunks).toString() });
        done();
      });
    },
  });
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  return {
    url: `smtp://svc:${encodeURIComponent(password)}@127.0.0.1:${port}`,
    mails,
    refused,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
