import type { TextKey } from '#modules/access/connect-ui/texts/en.ts';
import type { Translate } from '#modules/access/connect-ui/texts/translate.ts';
import type { Failure } from './api.ts';

/** Codes with a text in every language; for others the message of the service is shown. */
const sentences: Readonly<Record<string, TextKey>> = {
  connection_test_failed: 'errorRefused',
  invalid_credentials: 'errorRefused',
  client_credentials_fetch_error: 'errorRefused',
  two_step_credentials_fetch_error: 'errorRefused',
  connection_validation_failed: 'errorValidation',
  integration_not_allowed: 'errorNotAllowed',
  invalid_connection: 'errorConnectionGone',
  access_denied: 'errorDenied',
  state_err: 'errorState',
  state_cookie_err: 'errorCookie',
  too_many_request: 'errorTooMany',
  network: 'errorNetwork',
  server_error: 'errorServer',
};

/** By the reason of a refusal; the person can only fix the ones that they caused. */
const ofReasons: Readonly<Record<string, TextKey>> = {
  redirect_mismatch: 'errorSetup',
  wrong_client: 'errorSetup',
  flow_not_allowed: 'errorSetup',
  scope_refused: 'errorSetup',
  unverified_app: 'errorUnverified',
  access_denied: 'errorDenied',
  code_expired: 'errorState',
  provider_unavailable: 'errorProvider',
};

/** Whether only the developer of the application can fix it. */
export const isForDeveloper = ({ reason }: Failure): boolean => {
  const key = reason === null ? undefined : ofReasons[reason];
  return key === 'errorSetup' || key === 'errorUnverified';
};

/** A provider chooses its code: it may be the name of a method of objects. */
const sentenceOf = (code: string): TextKey | undefined =>
  Object.hasOwn(sentences, code) ? sentences[code] : undefined;

/** The error in the user's language, if the page has a text for it. */
export function failureSentences(
  { code, message, providerAnswer, reason, status }: Failure,
  name: string,
  t: Translate,
): { readonly own: string | null; readonly service: string | null } {
  const key =
    (reason === null ? undefined : ofReasons[reason]) ??
    sentenceOf(providerAnswer ?? '') ??
    sentenceOf(code) ??
    (status !== null && status >= 500 ? 'errorServer' : undefined);
  const isTold = key === 'errorServer' || key === 'errorNetwork' || message === '';
  if (key === undefined) return { own: null, service: message === '' ? code : message };
  return { own: t(key, { name }), service: isTold ? null : message };
}

/** Refusals of the token itself, which end the page. */
export function isExpired({ status }: Failure): boolean {
  return status === 401;
}
