import { describe, expect, it } from 'vitest';
import { translator } from '#modules/access/connect-ui/texts/translate.ts';
import { emptyFailure } from '#modules/connections/connect-page/browser/api.ts';
import {
  failureSentences,
  isForDeveloper,
} from '#modules/connections/connect-page/browser/failure-text.ts';

const t = translator('en');
const message = 'The provider "crm" answered access_denied: Ask an administrator.';

describe('the sentences of a failure on the connect page', () => {
  it('are that of the page and that of the service, with what the provider says', () => {
    const failure = { ...emptyFailure, code: 'callback_err', message };
    expect(failureSentences({ ...failure, providerAnswer: 'access_denied' }, 'CRM', t)).toEqual({
      own: 'Access was not granted at CRM.',
      service: message,
    });
  });

  it('say that the application is not set up where only its developer can fix it', () => {
    const failure = { ...emptyFailure, code: 'token_err', message, providerAnswer: '401' };
    const wrongSecret = { ...failure, reason: 'wrong_client' };
    expect(failureSentences(wrongSecret, 'CRM', t).own).toBe(
      'The application is not set up correctly at CRM.',
    );
    expect(isForDeveloper(wrongSecret)).toBe(true);
    expect(isForDeveloper({ ...failure, reason: 'access_denied' })).toBe(false);
    expect(isForDeveloper(failure)).toBe(false);
  });

  it.each(['constructor', 'toString', '__proto__', 'a code of the provider'])(
    'are that of the service for the code %s',
    (providerAnswer) => {
      const failure = { ...emptyFailure, code: providerAnswer, message, providerAnswer };
      expect(failureSentences(failure, 'CRM', t)).toEqual({ own: null, service: message });
    },
  );
});
