const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Text for HTML or XML, also within an attribute. */
export const escapedMarkup = (text: string): string =>
  text.replace(/[&<>"']/g, (mark) => escapes[mark] ?? mark);
