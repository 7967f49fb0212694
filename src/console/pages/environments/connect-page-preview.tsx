import type { JSX } from 'preact';
import type { Environment } from '#client/index.ts';
import { translator } from '#modules/access/connect-ui/texts/translate.ts';
import {
  themeColors,
  themeNames,
  type ThemeName,
} from '#modules/connections/connect-page/browser/theme.ts';

type ConnectUi = Environment['connect_ui'];

interface PreviewProps {
  readonly settings: ConnectUi;
}

/** A drawn sample: the page itself needs a session, and may not be framed. */
export const ConnectPagePreview = ({ settings }: PreviewProps): JSX.Element => (
  <div class="preview stack" role="group" aria-label="Preview">
    <h2>Preview</h2>
    {themeNames
      .filter((name) => settings.default_theme === 'system' || settings.default_theme === name)
      .map((name) => (
        <Sample key={name} name={name} settings={settings} />
      ))}
  </div>
);

function Sample({ name, settings }: PreviewProps & { readonly name: ThemeName }): JSX.Element {
  const { theme, logo = '', texts = {}, show_watermark: hasWatermark } = settings;
  const t = translator('en', withoutEmpty(texts));
  const colors = themeColors(name, theme[name].primary);
  return (
    <section class="connect-sample" data-theme={name} aria-label={`Preview, ${name}`}>
      {logo !== '' && <img class="brand-image" src={logo} alt="Logo" />}
      <h2>{t('connectTo', { name: 'Example' })}</h2>
      <p>{t('formIntro', { name: 'Example' })}</p>
      {/* Set through the DOM: the policy of the page allows no inline style. */}
      <span class="link" style={{ color: colors?.accent ?? '' }}>
        {t('help')}
      </span>
      <span
        class="action"
        style={{ background: colors?.primary ?? '', color: colors?.onPrimary ?? '' }}
      >
        {t('connect')}
      </span>
      <p class="foot">
        {t('stored')} {hasWatermark && t('watermark')}
      </p>
    </section>
  );
}

/** An empty text is that of the page. */
const withoutEmpty = (texts: NonNullable<ConnectUi['texts']>): NonNullable<ConnectUi['texts']> =>
  Object.fromEntries(
    Object.entries(texts).map(([language, all]) => [
      language,
      Object.fromEntries(Object.entries(all).filter(([, sentence]) => sentence !== '')),
    ]),
  );
