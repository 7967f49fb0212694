/** What a package registry answers for `GET /<package>`, as far as it is read here. */
export interface PackageDocument {
  name: string;
  'dist-tags'?: Record<string, string>;
  versions?: Record<string, PackageVersion>;
  /** ISO 8601 by version. */
  time?: Record<string, string>;
}

export interface PackageVersion {
  version: string;
  /** Old packages have an object here. */
  license?: string | { type?: string } | null;
  dependencies?: Record<string, string>;
  deprecated?: string | boolean;
  dist?: { unpackedSize?: number };
}

/** Scoped names keep their `@`; the slash is part of the name and not of the path. */
export const packagePath = (name: string): string => `/${name.replace('/', '%2f')}`;
