import type { HttpAnswer, HttpQuestion } from '../http/http-endpoint.js';
import type { HealthChecks, HealthResult } from './health-checks.js';

/** Checks by path, without its slash: `healthz`, `readyz`. */
export type HealthPaths = Readonly<Record<string, HealthChecks>>;

/**
 * Answers `/healthz`, `/readyz` and single checks of each, in the format of Kubernetes components: `ok`, or a
 * list of checks if one failed or `?verbose` is given. `?exclude=name` omits a check. Unlike Kubernetes,
 * `?verbose` includes the reasons of failures, and remarks.
 */
export async function answerHealth(
  paths: HealthPaths,
  { url, signal, logger }: HttpQuestion,
): Promise<HttpAnswer> {
  const [path = '', name, ...rest] = url.pathname.replace(/^\/+|\/+$/g, '').split('/');
  const checks = Object.hasOwn(paths, path) ? paths[path] : undefined;
  if (checks === undefined || rest.length > 0) return notFound;
  if (name !== undefined) {
    if (!checks.has(name)) return notFound;
    const result = await checks.runOne(name, signal);
    if (result.type !== 'failed') return { status: 200, body: 'ok' };
    return { status: 500, body: `internal server error: ${result.reason}\n` };
  }
  const excluded = new Set(url.searchParams.getAll('exclude'));
  const results = await checks.run(signal, excluded);
  const failed = results.filter((result) => result.type === 'failed');
  if (failed.length > 0) logger.info(`${path} check failed`, { failed });
  const isVerbose = url.searchParams.has('verbose');
  if (failed.length === 0 && !isVerbose) return { status: 200, body: 'ok' };
  const unknown = [...excluded].filter((each) => !checks.has(each));
  const lines = [
    ...results.map((result) => lineOf(result, isVerbose)),
    ...(unknown.length > 0 ? [warning(unknown)] : []),
    `${path} check ${failed.length > 0 ? 'failed' : 'passed'}`,
  ];
  return { status: failed.length > 0 ? 500 : 200, body: `${lines.join('\n')}\n` };
}

const notFound: HttpAnswer = { status: 404, body: '404 page not found\n' };

function lineOf(result: HealthResult, isVerbose: boolean): string {
  switch (result.type) {
    case 'ok':
      return `[+]${result.name} ok${isVerbose && result.remark !== undefined ? `: ${result.remark}` : ''}`;
    case 'excluded':
      return `[+]${result.name} excluded: ok`;
    case 'failed':
      return `[-]${result.name} failed: ${isVerbose ? result.reason : 'reason withheld'}`;
  }
}

function warning(unknown: readonly string[]): string {
  const names = unknown.map((name) => JSON.stringify(name)).join(', ');
  return `warn: some health checks cannot be excluded: no matches for ${names}`;
}
