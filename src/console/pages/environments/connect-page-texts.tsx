import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { en } from '#modules/access/connect-ui/texts/en.ts';
import {
  languageCodes,
  languages,
  type Language,
  type OwnTexts,
} from '#modules/access/connect-ui/texts/translate.ts';
import { Select, TextField } from '../../design/field.tsx';

const names = Object.keys(en) as (keyof typeof en)[];

interface TextsProps {
  readonly texts: OwnTexts;
  readonly onChange: (language: Language, name: string, sentence: string) => void;
}

/** Replaces one sentence of the page at a time; an empty one is that of the page again. */
export function ConnectPageTexts({ texts, onChange }: TextsProps): JSX.Element {
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
        label="In its place"
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
  const about = 'Empty: the text of the page';
  return placeholders.length === 0 ? about : `${about}. Placeholders: ${placeholders.join(', ')}`;
}
