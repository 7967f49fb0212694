import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Environment, Input } from '#client/index.ts';
import { en } from '#modules/access/connect-ui/texts/en.ts';
import {
  translator,
  languageCodes,
  languages,
  type Language,
  type OwnTexts,
} from '#modules/access/connect-ui/texts/translate.ts';
import {
  themeColors,
  themeNames,
  type ThemeName,
} from '#modules/connections/connect-page/browser/theme.ts';
import { failureOf } from '../../data/failure.ts';
import { useChange } from '../../data/read.ts';
import { Button } from '../../design/button.tsx';
import { useElementId } from '../../design/element-id.ts';
import { Check, Select, TextField } from '../../design/field.tsx';
import { FailureNotice } from '../../design/states.tsx';
import { useAccess } from '../../session/context.tsx';

type Patch = NonNullable<
  NonNullable<Input<'PATCH /environments/{environmentId}'>['body']>['connect_ui']
>;
type ConnectUi = Environment['connect_ui'];

const defaultThemes = [
  { value: 'system', label: 'As the system of the user' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

/** The settings with what is changed and not yet saved; an empty text or logo removes one. */
function changedBy(saved: ConnectUi, patch: Patch): ConnectUi {
  const { logo = saved.logo ?? '', texts = {}, theme = {}, ...rest } = patch;
  const names = new Set([...Object.keys(saved.texts ?? {}), ...Object.keys(texts)]);
  const changed: TextsByLanguage = texts;
  return {
    ...saved,
    ...rest,
    theme: {
      light: theme.light ?? saved.theme.light,
      dark: theme.dark ?? saved.theme.dark,
    },
    logo,
    texts: Object.fromEntries(
      Array.from(names, (language) => [
        language,
        { ...saved.texts?.[language], ...changed[language] },
      ]),
    ),
  };
}

interface ConnectPageProps {
  readonly environment: Environment;
}

/** Logo, colors and texts of the page on which users connect, with a sample of it. */
export function ConnectPage({ environment }: ConnectPageProps): JSX.Element {
  const { can } = useAccess();
  const [patch, setPatch] = useState<Patch>({});
  const set = (changed: Patch): void => setPatch({ ...patch, ...changed });
  const save = useChange(
    (client) =>
      client.request('PATCH /environments/{environmentId}', {
        params: { environmentId: environment.id },
        body: { connect_ui: patch },
      }),
    { done: 'The connect page was saved', onDone: () => setPatch({}), showsFailure: true },
  );
  const shown = changedBy(environment.connect_ui, patch);
  return (
    <div class="columns">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Look shown={shown} set={set} />
        <ConnectPageTexts
          texts={shown.texts ?? {}}
          onChange={(language, name, sentence) =>
            set({ texts: withText(patch.texts ?? {}, language, name, sentence) })
          }
        />
        {save.error !== null && <FailureNotice failure={failureOf(save.error)} />}
        {can('account:environments:update') && (
          <div>
            <Button
              type="submit"
              tone="primary"
              isDisabled={Object.keys(patch).length === 0}
              isBusy={save.isPending}
            >
              Save the connect page
            </Button>
          </div>
        )}
      </form>
      <ConnectPagePreview settings={shown} />
    </div>
  );
}

type TextsByLanguage = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;

const withText = (texts: TextsByLanguage, language: string, name: string, sentence: string) => ({
  ...texts,
  [language]: { ...texts[language], [name]: sentence },
});

interface LookProps {
  readonly shown: ConnectUi;
  readonly set: (changed: Patch) => void;
}

function Look({ shown, set }: LookProps): JSX.Element {
  const { theme } = shown;
  return (
    <div class="card padded stack">
      <h2>Look</h2>
      <LogoField logo={shown.logo ?? ''} onChange={(logo) => set({ logo })} />
      <TextField
        label="Primary color, light"
        hint="#rrggbb"
        value={theme.light.primary}
        onInput={(primary) => set({ theme: { ...theme, light: { primary } } })}
      />
      <TextField
        label="Primary color, dark"
        hint="#rrggbb"
        value={theme.dark.primary}
        onInput={(primary) => set({ theme: { ...theme, dark: { primary } } })}
      />
      <Select
        label="Default theme"
        hint="The link to the page may choose another one"
        value={shown.default_theme}
        choices={defaultThemes}
        onChange={(value) => {
          const chosen = defaultThemes.find((one) => one.value === value);
          if (chosen !== undefined) set({ default_theme: chosen.value });
        }}
      />
      <Check
        label="Show the watermark"
        isChecked={shown.show_watermark}
        onChange={(show_watermark) => set({ show_watermark })}
      />
    </div>
  );
}

interface PreviewProps {
  readonly settings: ConnectUi;
}

/** A drawn sample: the page itself needs a session, and may not be framed. */
const ConnectPagePreview = ({ settings }: PreviewProps): JSX.Element => (
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

const names = Object.keys(en) as (keyof typeof en)[];

interface TextsProps {
  readonly texts: OwnTexts;
  readonly onChange: (language: Language, name: string, sentence: string) => void;
}

/** Replaces one sentence of the page at a time; an empty one is that of the page again. */
function ConnectPageTexts({ texts, onChange }: TextsProps): JSX.Element {
  const [language, setLanguage] = useState<Language>('en');
  const [name, setName] = useState<keyof typeof en>('title');
  const own = texts[language] ?? {};
  const sentences = languages[language].texts;
  return (
    <div class="card padded stack">
      <h2>Texts</h2>
      <Select
        label="Language"
        value={language}
        choices={languageCodes.map((value) => ({ value, label: languages[value].name }))}
        onChange={(value) => setLanguage(languageCodes.find((one) => one === value) ?? language)}
      />
      <Select
        label="Text"
        value={name}
        choices={names.map((value) => ({
          value,
          label: `${(own[value] ?? '') === '' ? '' : '● '}${sentences[value]}`,
        }))}
        onChange={(value) => setName(names.find((one) => one === value) ?? name)}
      />
      <TextField
        label="Replacement"
        hint={hintOf(sentences[name])}
        placeholder={sentences[name]}
        value={own[name] ?? ''}
        onInput={(sentence) => onChange(language, name, sentence)}
      />
    </div>
  );
}

function hintOf(sentence: string): string {
  const placeholders = sentence.match(/\{\w+\}/g) ?? [];
  const about = 'Leave empty to keep the text of the page';
  return placeholders.length === 0 ? about : `${about}. Placeholders: ${placeholders.join(', ')}`;
}

/** Images that the API takes, as a data URL of at most so many characters (docs/connect-page.md). */
const types = ['image/png', 'image/jpeg', 'image/webp', 'image/svg+xml'];
const charsMax = 16_384;

/** @throws Error that says why the file cannot be a logo */
async function dataUrlOf(file: File): Promise<string> {
  if (!types.includes(file.type)) throw new Error('Choose a PNG, JPEG, WebP or SVG image.');
  const reader = new FileReader();
  const text = await new Promise<unknown>((resolve, reject) => {
    reader.addEventListener('load', () => resolve(reader.result));
    reader.addEventListener('error', () => reject(new Error('The file could not be read.')));
    reader.readAsDataURL(file);
  });
  if (typeof text !== 'string') throw new Error('The file could not be read.');
  if (text.length <= charsMax) return text;
  throw new Error(`The image has ${file.size.toLocaleString('en')} bytes: 12,000 at most.`);
}

interface LogoFieldProps {
  /** A data URL; empty: none. */
  readonly logo: string;
  readonly onChange: (logo: string) => void;
}

function LogoField({ logo, onChange }: LogoFieldProps): JSX.Element {
  const id = useElementId();
  const [problem, setProblem] = useState<string | null>(null);
  const choose = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    try {
      onChange(await dataUrlOf(file));
      setProblem(null);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <div class="field">
      <label for={id}>Logo</label>
      <input
        id={id}
        class="input"
        type="file"
        accept={types.join(',')}
        aria-describedby={`${id}-about`}
        aria-invalid={problem !== null}
        onChange={({ currentTarget }) => void choose(currentTarget.files?.[0])}
      />
      <span id={`${id}-about`} class={problem === null ? 'hint' : 'problem'}>
        {problem ?? 'PNG, JPEG, WebP or SVG, up to 12 KB'}
      </span>
      {logo !== '' && (
        <div>
          <Button isSmall icon="trash" onPress={() => onChange('')}>
            Remove the logo
          </Button>
        </div>
      )}
    </div>
  );
}
