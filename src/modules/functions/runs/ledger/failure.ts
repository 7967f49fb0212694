import { redactText } from '#kernel/redact.ts';
import { scrub } from '#kernel/scrub.ts';
import type { FailureDetail } from '#rules/failure-detail.ts';

/** Without anything that looks like a credential: providers often repeat tokens in responses. */
export function scrubFailure(detail: FailureDetail): FailureDetail {
  const { call } = detail;
  const causes = detail.causes.map((cause) => ({ ...cause, message: scrub(cause.message) }));
  if (call === null) return { ...detail, causes };
  const body = call.body === null ? null : redactText(call.body);
  return { ...detail, causes, call: { ...call, url: redactText(call.url), body } };
}
