import { Busboy } from '@fastify/busboy';
import { GatewayError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/stable-json.ts';

type Field = readonly [name: string, value: string | JsonObject];

/**
 * The parts of a multipart body (RFC 7578) in order: text, or a file with its bytes in base64.
 * @throws GatewayError `webhook_invalid_payload`
 */
export function readMultipart(bytes: Buffer, contentType: string): Promise<readonly Field[]> {
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown) => {
      const message =
        'The body of the webhook is not multipart/form-data with the boundary of its content type.';
      reject(new GatewayError('webhook_invalid_payload', { message }, { cause }));
    };
    try {
      const size = bytes.length;
      const parser = Busboy({
        headers: { 'content-type': contentType },
        preservePath: true,
        limits: { fieldSize: size, fileSize: size, fieldNameSize: size },
      });
      const fields: Field[] = [];
      parser.on('field', (name, value) => fields.push([name, value]));
      parser.on('file', (name, stream, filename, _encoding, type) => {
        const chunks: Buffer[] = [];
        const at = fields.push([name, '']) - 1;
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const base64 = Buffer.concat(chunks).toString('base64');
          fields[at] = [name, { filename, content_type: type, base64 }];
        });
      });
      parser.on('finish', () => resolve(fields));
      parser.on('error', fail);
      parser.end(bytes);
    } catch (error) {
      fail(error);
    }
  });
}
