export interface Mail {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

/** Hands mail to the server of the operator. */
export interface Mailer extends AsyncDisposable {
  /**
   * Resolves when the server has accepted the mail.
   * @throws MailFailure it was refused, or the server is away
   */
  send(mail: Mail): Promise<void>;
}

/** Why a mail was not accepted; `code` has no part of the address or of the mail. */
export class MailFailure extends Error {
  override readonly name = 'MailFailure';
  readonly code: string;
  constructor(code: string, options?: ErrorOptions) {
    super(`The mail was not accepted (${code}).`, options);
    this.code = code;
  }
}
