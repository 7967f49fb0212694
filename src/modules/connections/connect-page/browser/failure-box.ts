import type { Translate } from '#modules/access/connect-ui/texts/translate.ts';
import type { Failure } from './api.ts';
import { h } from './dom.ts';
import { failureSentences, isForDeveloper } from './failure-text.ts';

/** The error with code and log id for support; announced to screen readers. */
export function failureBox(failure: Failure, name: string, t: Translate): HTMLElement {
  const { own, service } = failureSentences(failure, name, t);
  const { providerWords: words } = failure;
  const fix = isForDeveloper(failure) ? failure.fix : null;
  const facts = [
    [t('code'), failure.code],
    [t('providerAnswer'), failure.providerAnswer],
    [t('logId'), failure.logId],
  ] as const;
  const existing = facts.filter((fact): fact is [string, string] => fact[1] !== null);
  const copy = h('button', { type: 'button', class: 'plain' }, t('copyDetails'));
  copy.addEventListener('click', () => {
    const text = [
      failure.message,
      fix ?? '',
      ...existing.map(([label, value]) => `${label}: ${value}`),
    ];
    void navigator.clipboard.writeText(text.filter((line) => line !== '').join('\n')).then(
      () => (copy.textContent = t('copied')),
      // Browsers deny clipboard access to a framed page: the details are visible as text.
      () => copy.remove(),
    );
  });
  return h(
    'div',
    { class: 'failure', role: 'alert', tabindex: -1 },
    h('strong', {}, t(name === '' ? 'failedPage' : 'failed', { name })),
    own === null ? null : h('p', {}, own),
    // The service's sentence has the provider's words in it.
    words !== null
      ? h('blockquote', { class: 'said' }, words)
      : service === null
        ? null
        : h('p', { lang: 'en', class: 'said' }, service),
    fix === null ? null : h('p', {}, t('forDeveloper'), ' ', h('span', { lang: 'en' }, fix)),
    h('dl', {}, ...existing.flatMap(([label, value]) => [h('dt', {}, label), h('dd', {}, value)])),
    copy,
  );
}
