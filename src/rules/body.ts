import type { Body } from './arguments.ts';

/** Restores a body that was transferred as JSON. */
export function dataOf(body: Body): unknown {
  switch (body.kind) {
    case 'none':
      return undefined;
    case 'json':
      return body.value;
    case 'text':
      return body.text;
    case 'form':
      return new URLSearchParams(body.text);
    case 'bytes':
      return Buffer.from(body.base64, 'base64');
    case 'fields':
      return Object.fromEntries(
        body.fields.map(([name, part]) => [
          name,
          'base64' in part ? Buffer.from(part.base64, 'base64') : part.value,
        ]),
      );
  }
}
