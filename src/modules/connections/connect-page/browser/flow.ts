import { ConnectError, emptyFailure, type ConnectResult, type Failure } from './api.ts';
import {
  callbackAck,
  callbackChannel,
  type CallbackMessage,
  type CallbackOutcome,
} from './callback-outcome.ts';

/** The outcomes of flows at providers, from all three channels. */
export interface FlowNotice {
  /** Id of the socket; null when it does not respond within a second. */
  clientId(): Promise<string | null>;
  /** @throws ConnectError when the provider or the service refused */
  outcome(integrationKey: string, signal: AbortSignal): Promise<ConnectResult>;
  /** Whether the socket has closed: the next flow needs another. */
  isOver(): boolean;
  close(): void;
}

const ackWithinMs = 1000;

interface SocketMessage {
  readonly message_type: 'connection_ack' | 'success' | 'error';
  readonly ws_client_id?: string;
  readonly provider_config_key?: string;
  readonly connection_id?: string;
  readonly is_pending?: boolean;
  readonly error_type?: string;
  readonly error_desc?: string;
  readonly log_id?: string | null;
  readonly provider_error?: string | { readonly code?: string | null } | null;
  readonly provider_error_description?: string;
  readonly reason?: string;
  readonly fix?: string;
}

/**
 * The opener and the channel reach a page of the same browser; a provider may cut the first
 * (Cross-Origin-Opener-Policy) and a frame may not share the second, so the service's socket also reports the outcome.
 */
export function listenForFlows(socketUrl: string): FlowNotice {
  const outcomes = new EventTarget();
  let clientId: string | null = null;
  const announce = (outcome: CallbackOutcome): void => {
    outcomes.dispatchEvent(new CustomEvent('outcome', { detail: outcome }));
  };
  const socket = new WebSocket(socketUrl);
  const acknowledged = new Promise<string | null>((resolve) => {
    const giveUp = setTimeout(() => resolve(null), ackWithinMs);
    socket.addEventListener('error', () => resolve(null));
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(String(data)) as SocketMessage;
      if (message.message_type !== 'connection_ack') announce(outcomeOf(message, clientId));
      else {
        clearTimeout(giveUp);
        clientId = message.ws_client_id ?? null;
        resolve(clientId);
      }
    });
  });
  /** Every page of the browser receives the channel, including those that wait for another flow. */
  const isOurs = ({ payload }: CallbackMessage): boolean =>
    clientId === null || payload.wsClientId === clientId;
  const channel = new BroadcastChannel(callbackChannel);
  const onChannel = ({ data }: MessageEvent): void => {
    if (!isCallback(data) || !isOurs(data)) return;
    channel.postMessage({ type: callbackAck });
    announce(data.payload);
  };
  const onMessage = ({ data, origin, source }: MessageEvent): void => {
    if (origin !== location.origin || !isCallback(data)) return;
    source?.postMessage({ type: callbackAck }, { targetOrigin: origin });
    announce(data.payload);
  };
  channel.addEventListener('message', onChannel);
  addEventListener('message', onMessage);
  return {
    clientId: () => acknowledged,
    outcome: (integrationKey, signal) =>
      new Promise((resolve, reject) => {
        const onOutcome = (event: Event): void => {
          const outcome = (event as CustomEvent<CallbackOutcome>).detail;
          if (outcome.ok && outcome.providerConfigKey !== integrationKey) return;
          if (outcome.ok) resolve(outcome);
          else reject(new ConnectError(failureOfOutcome(outcome)));
        };
        outcomes.addEventListener('outcome', onOutcome, { signal });
      }),
    isOver: () => socket.readyState >= WebSocket.CLOSING,
    close() {
      socket.close();
      channel.close();
      removeEventListener('message', onMessage);
    },
  };
}

const isCallback = (data: unknown): data is CallbackMessage => {
  const type = (data as { type?: unknown } | null)?.type;
  return type === 'svc_oauth_callback_success' || type === 'svc_oauth_callback_error';
};

function outcomeOf(message: SocketMessage, wsClientId: string | null): CallbackOutcome {
  if (message.message_type === 'success') {
    return {
      ok: true,
      providerConfigKey: message.provider_config_key ?? '',
      connectionId: message.connection_id ?? '',
      isPending: message.is_pending ?? false,
      wsClientId,
    };
  }
  const { provider_error: answer } = message;
  return {
    ok: false,
    errorType: message.error_type ?? 'unknown_err',
    message: message.error_desc ?? '',
    logId: message.log_id ?? null,
    providerCode: (typeof answer === 'string' ? answer : answer?.code) ?? null,
    providerDescription: message.provider_error_description ?? null,
    reason: message.reason ?? null,
    fix: message.fix ?? null,
    wsClientId,
  };
}

export function failureOfOutcome(outcome: Extract<CallbackOutcome, { ok: false }>): Failure {
  return {
    ...emptyFailure,
    code: outcome.errorType,
    message: outcome.message,
    logId: outcome.logId,
    providerAnswer: outcome.providerCode,
    providerWords: outcome.providerDescription,
    reason: outcome.reason,
    fix: outcome.fix,
  };
}
