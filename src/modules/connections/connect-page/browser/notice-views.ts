import type { TextKey } from '#modules/access/connect-ui/texts/en.ts';
import type { Failure } from './api.ts';
import type { View } from './app.ts';
import { h } from './dom.ts';
import { failureBox } from './failure-box.ts';

const notice =
  (title: TextKey, text: TextKey): View =>
  async ({ t }) => ({ title: t(title), content: [h('p', { class: 'intro' }, t(text))] });

export const expiredView = (): View => notice('expired', 'expiredText');
export const missingView = (): View => notice('missing', 'missingText');
export const loadingView =
  (): View =>
  async ({ t }) => ({
    title: t('title'),
    content: [h('p', { class: 'intro' }, t('loading'))],
  });

/** A load error with a button to retry. */
export function failedView(failure: Failure, again: () => void): View {
  return async ({ t }) => {
    const box = failureBox(failure, '', t);
    const button = h(
      'button',
      { type: 'button', class: 'primary', on: { click: again } },
      t('tryAgain'),
    );
    return { title: t('title'), content: [box, button], focus: box };
  };
}
