import { parseDocument } from 'yaml';
import { isJsonObject } from '../../object/json.js';
import type { TransportRequest } from '../../system/transport.js';
import { jsonTypeName } from '../go-json/decoding.js';
import { badRequest, tooLarge, unsupportedMediaType } from '../status-error.js';
import type { StatusError } from '../status-error.js';
import { scanJson } from './json-scan.js';

/** The largest body that is read, in bytes: the limit of the real server. */
export const bodyLimitBytes = 3 * 1024 * 1024;

/** Deeper bodies are refused: what walks them recurses. */
const depthLimit = 1_000;

/** A parsed body. */
export interface Body {
  readonly value: unknown;
  /** JSON paths of members that appear twice. */
  readonly duplicates: readonly string[];
  readonly text: string;
}

/** What bodies of creates, updates and deletes are written in. */
export const objectMediaTypes = ['application/json', 'application/yaml'];

/** The media type of a request's body, without parameters; empty where none is given. */
export function mediaTypeOf(request: TransportRequest): string {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  return type.trim().toLowerCase();
}

/** The body as text. @throws StatusError 413: it is over {@link bodyLimitBytes}. */
export function bodyText({ body }: TransportRequest): string {
  if (body === undefined) return '';
  if (body.length > bodyLimitBytes) throw tooLarge(bodyLimitBytes);
  return typeof body === 'string' ? body : new TextDecoder().decode(body);
}

/**
 * Parses a body of JSON or YAML, by its media type.
 * @throws StatusError 400 malformed or too deep, 413 too large, 415 of another type.
 */
export function readObjectBody(request: TransportRequest): Body {
  const type = mediaTypeOf(request);
  if (type === 'application/yaml') return parseYaml(bodyText(request));
  if (type === '' || type === 'application/json') return parseJson(bodyText(request));
  throw unsupportedMediaType([...objectMediaTypes, 'application/vnd.kubernetes.protobuf']);
}

/** Parses JSON. @throws StatusError 400: malformed, or too deep. */
export function parseJson(text: string): Body {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const message = text.trim() === '' ? 'unexpected end of JSON input' : (error as Error).message;
    throw unrecognized(`json parse error: ${message} (${excerpt(text)})`);
  }
  const { duplicates, depth } = scanJson(text);
  if (depth > depthLimit) {
    throw unrecognized(`json parse error: exceeded max depth (${excerpt(text)})`);
  }
  return { value, duplicates, text };
}

function unrecognized(why: string): StatusError {
  return badRequest(`the object provided is unrecognized: couldn't get version/kind; ${why}`);
}

const excerptLength = 30;

function excerpt(text: string): string {
  if (text === '') return '<empty>';
  return text.length <= excerptLength ? text : `${text.slice(0, excerptLength)} ...`;
}

/** Parses YAML; JSON is YAML too. @throws StatusError 400: malformed, or too deep. */
export function parseYaml(text: string): Body {
  if (text.trimStart().startsWith('{')) return parseJson(text);
  let json: string;
  try {
    const document = parseDocument(text, { uniqueKeys: false });
    const [error] = document.errors;
    if (error !== undefined) throw error;
    // Through JSON: what YAML can say beyond it (dates, cycles) is refused or made text.
    json = JSON.stringify(document.toJS({ maxAliasCount: 100 }) ?? null);
  } catch (error) {
    throw badRequest(`error decoding YAML: ${(error as Error).message}`);
  }
  return parseJson(json);
}

/** The body as a JSON object; null is an empty one. @throws StatusError 400: it is something else. */
export function objectOf({ value, text }: Body): Readonly<Record<string, unknown>> {
  if (isJsonObject(value)) return value;
  if (value === null) return {};
  const type = `struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
  const why = `json parse error: json: cannot unmarshal ${jsonTypeName(value)} into Go value of type ${type}`;
  throw unrecognized(`${why} (${Buffer.from(text).toString('hex').slice(0, excerptLength)})`);
}
