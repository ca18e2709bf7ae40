import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Registry } from 'prom-client';
import type { HttpAnswer, HttpQuestion } from '../http/http-endpoint.js';
import type { ReviewedAccess } from './reviewed-access.js';

const compress = promisify(gzip);

// Smaller responses are not compressed.
const smallBytes = 1_024;

/** Answers `/metrics` with the samples of `registry` if the client has access. */
export async function answerMetrics(
  registry: Registry,
  access: ReviewedAccess | undefined,
  question: HttpQuestion,
): Promise<HttpAnswer> {
  const { url, headers, logger } = question;
  if (url.pathname !== '/metrics') return { status: 404, body: '404 page not found\n' };
  const refused = await access?.refusal(question);
  if (refused !== undefined) {
    logger.info('a scrape was refused', { status: refused.status });
    return refused;
  }
  const text = await registry.metrics();
  const shown = { 'content-type': registry.contentType, vary: 'accept-encoding' };
  if (text.length < smallBytes || !acceptsGzip(headers['accept-encoding'])) {
    return { status: 200, headers: shown, body: text };
  }
  const body = await compress(text);
  return { status: 200, headers: { ...shown, 'content-encoding': 'gzip' }, body };
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  const codings = String(header ?? '').split(',');
  return codings.some((coding) => {
    const [name = '', ...parameters] = coding.split(';').map((part) => part.trim());
    const isRefused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    return (name === 'gzip' || name === '*') && !isRefused;
  });
}
