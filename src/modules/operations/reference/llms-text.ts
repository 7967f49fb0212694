import { objectOf, type JsonObject } from '../../../kernel/stable-json.ts';
import { methods, tagOf, textOf } from './page.ts';

/**
 * The API as Markdown for language models: an introduction, authentication, and a line for each operation with a link
 * to its details.
 * @param base address that the links begin with, without a slash at its end
 */
export function llmsText(document: JsonObject, base: string): string {
  const paths = Object.entries(objectOf(document['paths']));
  const sections = [...new Set(paths.map(([path]) => tagOf(path)))].map((tag) => {
    const lines = paths
      .filter(([path]) => tagOf(path) === tag)
      .flatMap(([path, item]) => linesOf(path, objectOf(item), base));
    return `## ${tag}\n\n${lines.join('\n')}\n`;
  });
  const [summary, ...details] = textOf(objectOf(document['info'])['description']).split('\n\n');
  return `# svc

> ${summary}

${details.join('\n\n')}

Send \`Authorization: Bearer <key>\`, and bodies as JSON with \`Content-Type: application/json\`. What is about one connection
names it with the headers \`Provider-Config-Key\` and \`Connection-Id\`, or with fields of the same names. A refusal is
\`{"error":{"code","message","fix"}}\`: the code is stable, and \`fix\` says what to do.

- [The whole API as an OpenAPI 3.1 document](${base}/openapi.json)
- [The same to read](${base}/docs)

${sections.join('\n')}`;
}

function linesOf(path: string, item: JsonObject, base: string): string[] {
  return methods.flatMap((method) => {
    const { operationId: id, summary, deprecated } = objectOf(item[method]);
    if (id === undefined || deprecated === true) return [];
    const link = `[${method.toUpperCase()} ${path}](${base}/docs#${textOf(id)})`;
    return [`- ${link}: ${textOf(summary)}`];
  });
}
