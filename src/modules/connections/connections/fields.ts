import { z } from 'zod';
import { tags } from '#http/fields.ts';

/**
 * Fields that an application sets on a connection, each under one name in requests, responses, states, events and on
 * `svc.connections.v1`. `input`: in a request, where it may be absent; `shown`: in a response; `initial`: until it is
 * set.
 */
export const plainFields = {
  tags: { input: tags, shown: z.record(z.string(), z.string()), initial: {} },
};

type DeclaredFields = typeof plainFields;
type FieldName = keyof DeclaredFields;

/** As the state of a connection holds them. */
export type PlainFields = {
  readonly [Name in FieldName]: Readonly<z.output<DeclaredFields[Name]['shown']>>;
};

const names = Object.keys(plainFields) as FieldName[];

const mapFields = (valueOf: (name: FieldName) => unknown): unknown =>
  Object.fromEntries(names.map((name) => [name, valueOf(name)]));

/** As a request sets them; absent or undefined leaves one unchanged. */
export type PlainInput = { readonly [Name in FieldName]?: PlainFields[Name] | undefined };

/** In the body of a request. */
export const plainInputs = mapFields((name) => plainFields[name].input.optional()) as {
  readonly [Name in FieldName]: z.ZodOptional<DeclaredFields[Name]['input']>;
};

/** All of them; states of earlier releases lack the later ones. */
export const plainValues = (fields: Partial<PlainFields>): PlainFields =>
  mapFields((name) => fields[name] ?? plainFields[name].initial) as PlainFields;

/** Those that are set. */
export const setFields = (fields: PlainInput): Partial<PlainFields> =>
  Object.fromEntries(
    names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  );

/** Their part of a representation. */
export const plainRows = mapFields((name) => [
  plainFields[name].shown,
  (fields: Partial<PlainFields>) => plainValues(fields)[name],
]) as {
  readonly [Name in FieldName]: readonly [
    DeclaredFields[Name]['shown'],
    (fields: Partial<PlainFields>) => PlainFields[Name],
  ];
};
