/** How a flow at a provider failed. */
export interface FailedOutcome {
  /** `error_type` of the socket's messages (docs/reference/http.md#sign-in-by-redirect). */
  readonly errorType: string;
  readonly message: string;
  readonly logId: string | null;
  /** The provider's own code, such as `access_denied`. */
  readonly providerCode: string | null;
  /** The provider's own words. */
  readonly providerDescription: string | null;
  /** Why the provider refused (docs/reference/auth-modes.md#reasons-of-a-refusal). */
  readonly reason: string | null;
  /** What the developer of the application can do. */
  readonly fix: string | null;
}

/** The outcome of a flow at a provider, for the document that ends it. */
export type CallbackOutcome = (
  | {
      readonly ok: true;
      readonly providerConfigKey: string;
      readonly connectionId: string;
      /** Connected, but the provider has not installed the app yet. */
      readonly isPending: boolean;
    }
  | ({ readonly ok: false } & FailedOutcome)
) & {
  /** Of the page that started the flow; null if it had no socket. */
  readonly wsClientId: string | null;
};

/** The message to the page that started the flow, by the opener and by the channel. */
export type CallbackMessage =
  | { readonly type: 'svc_oauth_callback_success'; readonly payload: CallbackOutcome }
  | { readonly type: 'svc_oauth_callback_error'; readonly payload: CallbackOutcome };

/** Name of the channel, and the acknowledgment on it. */
export const callbackChannel = 'svc-oauth-callback';
export const callbackAck = 'svc_oauth_callback_ack';
