import { escapedMarkup } from '#kernel/markup.ts';

/** A part of the page of a provider; `html` is empty where the definition says nothing of it. */
export interface PageSection {
  readonly anchor: string;
  readonly title: string;
  readonly html: string;
}

export const code = (text: string): string => `<code>${escapedMarkup(text)}</code>`;

export const codes = (texts: readonly (string | number)[]): string =>
  texts.map((text) => code(String(text))).join(', ');

/** Definitions are written by operators too: what is not an address of HTTPS is shown as text. */
export function outsideLink(address: string, text: string): string {
  const url = URL.parse(address);
  if (url?.protocol !== 'https:') return `${escapedMarkup(text)}: ${code(address)}`;
  return `<a href="${escapedMarkup(url.href)}">${escapedMarkup(text)}</a>`;
}

export const list = (items: readonly (string | null)[]): string => {
  const shown = items.filter((item) => item !== null);
  return shown.length === 0 ? '' : `<ul>${shown.map((item) => `<li>${item}</li>`).join('')}</ul>`;
};

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[], tag: 'td' | 'th'): string =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  const body = rows.map((row) => line(row, 'td')).join('');
  return `<div class="table" tabindex="0"><table><thead>${line(heads, 'th')}</thead><tbody>${body}</tbody></table></div>`;
}

/** A text of a definition, which may have one in each language. */
export function textIn(text: string | Readonly<Record<string, string>> | undefined): string {
  if (text === undefined) return '';
  return escapedMarkup(
    typeof text === 'string' ? text : (text['en'] ?? Object.values(text)[0] ?? ''),
  );
}

export const codeBlock = (language: string, text: string): string =>
  `<div class="code-block" data-language="${language}"><pre tabindex="0"><code>${escapedMarkup(text)}</code></pre></div>`;
