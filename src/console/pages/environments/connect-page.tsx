import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Environment, Input } from '#client/index.ts';
import { failureOf } from '../../data/failure.ts';
import { useChange } from '../../data/read.ts';
import { Button } from '../../design/button.tsx';
import { Check, Select, TextField } from '../../design/field.tsx';
import { FailureNotice } from '../../design/states.tsx';
import { useAccess } from '../../session/context.tsx';
import { ConnectPagePreview } from './connect-page-preview.tsx';
import { ConnectPageTexts } from './connect-page-texts.tsx';
import { LogoField } from './logo-field.tsx';

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
        hint="The page's link may name another"
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
