/** A request to the world outside. The URL is parsed once; what was parsed is what is connected to. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Overall, from the call to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Bytes of the answer after decompression; beyond it the call fails. */
  readonly maxBytes?: number;
  /** Hops followed, at most 5; each is checked again. Default 0: the redirect itself is the answer. */
  readonly redirectsMax?: number;
  /** Headers dropped when a redirect leaves the origin. */
  readonly credentialHeaders?: readonly string[];
  readonly signal?: AbortSignal;
  /** Of the client, for mutual TLS; both in PEM. */
  readonly certificate?: { readonly certificate: string; readonly privateKey: string };
}

export interface HttpReply {
  readonly status: number;
  readonly statusText: string;
  /** Lower-case names; several values are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The URL that answered, after redirects. */
  readonly url: string;
}

/** Why no answer came: the code of the operating system or of the HTTP client (`ECONNRESET`, …). */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const passingCodes = new Set([
  'ECONNRESET',
  'ETIMEDOUT',
  'ECONNABORTED',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'EAI_AGAIN',
  'UND_ERR_SOCKET', // the client's name of ECONNRESET
]);

/**
 * Whether a failure of this code may pass, so that the request is worth repeating (specification section
 * 4.2, contract/webhooks-out.md section 3).
 */
export const mayPass = (code: string): boolean => passingCodes.has(code);

/**
 * The only way out of the process. Every resolved address is checked against the egress policy before
 * and at the connection (contract/reliability.md section 7).
 */
export interface HttpClient extends AsyncDisposable {
  /** @throws HttpFailure without an answer; GatewayError `url_not_allowed` when the policy refuses. */
  request(request: OutgoingRequest): Promise<HttpReply>;
}
