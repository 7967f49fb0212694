import { z } from 'zod';
import { mapOf, text } from '#http/fields.ts';
import type { ConnectUi, Environment } from '../environments/environment.ts';
import { en, type TextKey } from './texts/en.ts';
import { languageCodes } from './texts/translate.ts';

const connectUiDefault: ConnectUi = {
  primary: { light: '#2457c5', dark: '#8fb4ff' },
  defaultTheme: 'system',
  showWatermark: false,
};

/** Limits the size of the environment's state, which many requests read. */
const logoCharsMax = 16_384;
const textsBytesMax = 16_384;

const primary = z.strictObject({
  primary: z.string().regex(/^#([0-9a-f]{3}|[0-9a-f]{6})$/i, 'A color as #rgb or #rrggbb.'),
});

const logo = z
  .string()
  .max(logoCharsMax)
  .regex(
    /^(?:data:image\/(?:png|jpeg|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2})?$/,
    'An image as data:image/png;base64,… (also jpeg, webp, svg+xml), or empty.',
  )
  .meta({ examples: ['data:image/png;base64,iVBORw0KGgo='] });

const placesIn = (sentence: string): string[] => sentence.match(/\{\w+\}/g) ?? [];

/** One text with its placeholders; empty = the default text. */
const sentences = mapOf(z.string(), text(0, 500)).superRefine((sent, context) => {
  for (const [name, sentence] of Object.entries(sent)) {
    const own = Object.hasOwn(en, name) ? en[name as TextKey] : undefined;
    const unknown = placesIn(sentence).filter((placeholder) => own?.includes(placeholder) !== true);
    if (own === undefined) refuse(name, 'The page has no such text.');
    else if (unknown.length > 0)
      refuse(name, `This text has no placeholder ${unknown.join(', ')}.`);
  }
  function refuse(name: string, message: string): void {
    context.addIssue({ code: 'custom', message, path: [name] });
  }
});
const languages = Object.fromEntries(
  languageCodes.map((code) => [
    code,
    sentences
      .optional()
      .describe(`Texts in the language \`${code}\` by name; empty: the default text.`),
  ]),
);

/** `connect_ui` of `PATCH /environments/{id}`: absent fields keep their value. */
export const connectUiShape = z.strictObject({
  theme: z.strictObject({ light: primary.optional(), dark: primary.optional() }).optional(),
  default_theme: z.enum(['light', 'dark', 'system']).optional(),
  show_watermark: z.boolean().optional(),
  logo: logo.optional(),
  texts: z
    .strictObject(languages)
    .refine((sent) => Buffer.byteLength(JSON.stringify(sent)) <= textsBytesMax, {
      message: `At most ${textsBytesMax} bytes of texts.`,
    })
    .optional(),
});

export function changedConnectUi(
  sent: z.output<typeof connectUiShape>,
  { connectUi = connectUiDefault }: Pick<Environment, 'connectUi'>,
): ConnectUi {
  const { theme = {} } = sent;
  const logo = sent.logo ?? connectUi.logo ?? '';
  const texts = mergedTexts(connectUi.texts ?? {}, sent.texts ?? {});
  return {
    primary: {
      light: theme.light?.primary ?? connectUi.primary.light,
      dark: theme.dark?.primary ?? connectUi.primary.dark,
    },
    defaultTheme: sent.default_theme ?? connectUi.defaultTheme,
    showWatermark: sent.show_watermark ?? connectUi.showWatermark,
    ...(logo === '' ? {} : { logo }),
    ...(Object.keys(texts).length === 0 ? {} : { texts }),
  };
}

type ConfiguredTexts = NonNullable<ConnectUi['texts']>;

/** Merged into the existing texts by language and name; an empty text deletes one. */
function mergedTexts(
  existing: ConfiguredTexts,
  sent: NonNullable<z.output<typeof connectUiShape>['texts']>,
) {
  const merged = languageCodes.map((code) => {
    const all = Object.entries({ ...existing[code], ...sent[code] });
    return [code, Object.fromEntries(all.filter(([, sentence]) => sentence !== ''))] as const;
  });
  return Object.fromEntries(merged.filter(([, all]) => Object.keys(all).length > 0));
}

/** With the field names of the API. */
export function presentConnectUi({ connectUi = connectUiDefault }: Pick<Environment, 'connectUi'>) {
  const { primary: colors, defaultTheme, showWatermark, logo, texts } = connectUi;
  const theme = { light: { primary: colors.light }, dark: { primary: colors.dark } };
  return {
    theme,
    default_theme: defaultTheme,
    show_watermark: showWatermark,
    ...(logo === undefined ? {} : { logo }),
    ...(texts === undefined ? {} : { texts }),
  };
}

/** `connectUISettings` of `GET /connect/session`. */
export function connectUiSettings(environment: Pick<Environment, 'connectUi'>) {
  const { default_theme, show_watermark, ...rest } = presentConnectUi(environment);
  return { ...rest, defaultTheme: default_theme, showWatermark: show_watermark };
}
