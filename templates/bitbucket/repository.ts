import { z } from 'zod';

/** A repository as Bitbucket returns it. */
export const BitbucketRepository = z.object({
  /** With braces. */
  uuid: z.string(),
  name: z.string(),
  /** `workspace/repository` */
  full_name: z.string(),
  description: z.string().nullish(),
  is_private: z.boolean(),
  language: z.string().nullish(),
  /** Left out while there is no commit. */
  mainbranch: z.object({ name: z.string() }).nullish(),
  project: z.object({ key: z.string() }).nullish(),
  links: z.object({ html: z.object({ href: z.string() }) }),
  created_on: z.string(),
  updated_on: z.string(),
});
export type BitbucketRepository = z.infer<typeof BitbucketRepository>;

export const Repository = z.object({
  id: z.string(),
  /** `workspace/repository` */
  key: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  is_private: z.boolean(),
  language: z.string().nullable(),
  main_branch: z.string().nullable(),
  project_key: z.string().nullable(),
  url: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type Repository = z.infer<typeof Repository>;

export const repositoryOf = (repository: BitbucketRepository): Repository => ({
  id: repository.uuid,
  key: repository.full_name,
  name: repository.name,
  description: repository.description || null,
  is_private: repository.is_private,
  language: repository.language || null,
  main_branch: repository.mainbranch?.name ?? null,
  project_key: repository.project?.key ?? null,
  url: repository.links.html.href,
  created_at: repository.created_on,
  updated_at: repository.updated_on,
});
