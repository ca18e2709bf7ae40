import { ApiError, isGone } from '../object/index.js';
import type { KubernetesObject, ObjectList } from '../object/index.js';
import { OperatorError } from '../system/index.js';
import type { ListOptions } from './client.js';
import type { Query } from './call.js';

/** The parameters that differ between pages. */
export type PageRequest = Query;

export type FetchPage<T extends KubernetesObject> = (page: PageRequest) => Promise<ObjectList<T>>;

const defaultLimit = 500;
// API servers fill pages while objects remain; only aggregated API servers may send empty pages.
const maxEmptyPages = 1_000;

/**
 * Yields the pages of a collection, all of one resource version.
 * @throws ApiError 410: the server discarded that version meanwhile. The caller must list again, because
 * pages were already yielded.
 * @throws ApiError: the server repeats a continue token, or sends endless empty pages.
 */
export async function* pagesOf<T extends KubernetesObject>(
  fetchPage: FetchPage<T>,
  options: ListOptions,
): AsyncGenerator<ObjectList<T>> {
  const { limit = defaultLimit, resourceVersion, resourceVersionMatch } = options;
  if (!(limit >= 1)) {
    throw new OperatorError('InvalidOption', `list: limit: want 1 or more, got ${limit}`);
  }
  let page = await fetchPage({ limit, resourceVersion, resourceVersionMatch });
  const tokens = new Set<string>();
  let emptyPages = 0;
  for (;;) {
    yield page;
    const token = page.metadata.continue ?? '';
    if (token === '') return;
    emptyPages = page.items.length === 0 ? emptyPages + 1 : 0;
    if (tokens.has(token) || emptyPages > maxEmptyPages) throw endlessList(page, emptyPages);
    tokens.add(token);
    // The token contains the version: sending both is an error.
    page = await fetchPage({ limit, continue: token });
  }
}

function endlessList({ kind }: ObjectList<KubernetesObject>, emptyPages: number): ApiError {
  const problem =
    emptyPages > maxEmptyPages
      ? `more than ${maxEmptyPages} empty pages`
      : 'a continue token twice';
  const message = `the server sent ${problem}; this is a defect of the API server of the kind`;
  return new ApiError({ code: 200, message }, { verb: 'list', kind, status: 200 });
}

/**
 * Lists a whole collection. If a continue token expires, it lists again without pages, as client-go's pager
 * does.
 */
export async function concatenatePages<T extends KubernetesObject>(
  fetchPage: FetchPage<T>,
  options: ListOptions,
): Promise<ObjectList<T>> {
  const { resourceVersion, resourceVersionMatch } = options;
  const items: T[] = [];
  let last: ObjectList<T> | undefined;
  try {
    for await (const page of pagesOf(fetchPage, options)) {
      last = page;
      // Not `push(...page.items)`: a server may ignore the limit, and the number of arguments is limited.
      for (const item of page.items) items.push(item);
    }
  } catch (error) {
    if (last === undefined || !isGone(error)) throw error;
    return fetchPage({ resourceVersion, resourceVersionMatch });
  }
  if (last === undefined)
    throw new OperatorError('ConnectionFailed', 'list: the server sent no page');
  return { ...last, items };
}
