import { ApiError } from '#client/index.ts';
import { Mask } from '#kernel/mask.ts';
import { isSecretName } from '#kernel/redact.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import type { SectionName } from './mapping.ts';

/** Why something did not come, or not all of it. */
export const problemCodes = {
  source_failed: 'the source did not return it',
  invalid: 'it is not valid here',
  unknown_provider: 'the provider is not in the catalog',
  provider_differs: 'the integration exists here with another provider',
  no_integration: 'its integration is not here',
  masked_secret: 'the source returns a secret masked',
  missing_credentials: 'the source returns no credentials',
  auth_mode: 'the credentials are of another mode than the provider',
  not_finished: 'the connection is not finished at the source',
  expired: 'its token has expired and cannot be refreshed',
  no_refresh_token: 'it works until its token expires',
  partly: 'a part of it cannot come',
  failing_at_source: 'the source reports an authentication error',
  differs: 'it differs from the source and was left unchanged',
  missing_function: 'the sync is not deployed here',
  refused: 'the service refused it',
} as const;

export interface Problem {
  readonly kind: SectionName;
  readonly id: string;
  readonly code: keyof typeof problemCodes;
  readonly message: string;
  /** Whether it came all the same. */
  readonly came: boolean;
}

/** Why one entry cannot come. Its message holds no value of the entry but names. */
export class CannotCome extends Error {
  override readonly name = 'CannotCome';
  readonly code: Problem['code'];

  constructor(code: Problem['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** The service is gone, or the key is: the next entry fares no better. */
const isGeneral = ({ code, status }: ApiError): boolean =>
  status === 401 || code === 'unreachable' || code === 'invalid_answer';

/**
 * The refusal as a problem, without the secrets of the entry: an answer may repeat what was sent.
 * @throws the error when it is none of this entry
 */
export function refusedProblem(
  ref: Pick<Problem, 'kind' | 'id'>,
  error: unknown,
  entry: Json,
): Problem {
  if (error instanceof CannotCome) {
    return { ...ref, code: error.code, message: error.message, came: false };
  }
  if (!(error instanceof ApiError) || isGeneral(error)) throw error;
  const mask = new Mask();
  for (const secret of secretsIn(entry, false)) mask.add(secret);
  const message = mask.text(`${error.message} (${error.code})`);
  return { ...ref, code: 'refused', message, came: false };
}

/** Texts of fields with names of secrets, and everything within credentials. */
function secretsIn(value: Json, isSecret: boolean): string[] {
  if (typeof value === 'string') return isSecret ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((item: Json) => secretsIn(item, isSecret));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    secretsIn(item, isSecret || isSecretName(name)),
  );
}
