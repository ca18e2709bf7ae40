import { parseDocument } from 'yaml';
import { isJsonObject } from '../../object/json.js';
import { checkYamlDepth } from '../../object/yaml-documents.js';
import type { TransportRequest } from '../../system/transport.js';
import { jsonTypeName } from '../go-json/decoding.js';
import { badRequest, tooLarge, unsupportedMediaType } from '../status-error.js';
import type { StatusError } from '../status-error.js';
import { depthLimit } from '../writes/decode-object.js';
import type { RawObject } from '../writes/decode-object.js';
import { jsonProblem } from './json-problem.js';
import { scanJson } from './json-scan.js';
import { objectFromProtobuf } from './protobuf-objects.js';

/** The maximum size of a body, in bytes: the limit of the real server. */
export const bodyLimitBytes = 3 * 1024 * 1024;

/** A parsed body. */
export interface Body {
  readonly value: unknown;
  /** JSON paths of duplicate members. */
  readonly duplicates: readonly string[];
  readonly text: string;
}

/** Media types of the bodies of creates, updates and deletes. */
export const objectMediaTypes = ['application/json', 'application/yaml'];

/** Returns the media type of a request's body, without parameters; empty if absent. */
export function mediaTypeOf(request: TransportRequest): string {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  return type.trim().toLowerCase();
}

/**
 * Returns the body as text.
 * @throws StatusError 413: it is larger than {@link bodyLimitBytes}.
 */
export function bodyText({ body }: TransportRequest): string {
  if (body === undefined) return '';
  if (body.length > bodyLimitBytes) throw tooLarge(bodyLimitBytes);
  return typeof body === 'string' ? body : new TextDecoder().decode(body);
}

/** Creates the error for a body with this problem. */
export type Refusal = (problem: string, text: string) => StatusError;

/** Returns the real server's error for a body that should be an object of `kind`. */
export function refuseObject(kind: string): Refusal {
  return (problem, text) =>
    badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${problem} (${excerpt(text)})`,
    );
}

/** Returns the real server's error for an invalid patch. */
export const refusePatch: Refusal = (problem) => badRequest(`error decoding patch: ${problem}`);

/**
 * Parses a body of JSON or YAML, by its media type; objects of built-in kinds also in protobuf.
 * @throws StatusError 400 malformed or too deep, 413 too large, 415 another media type.
 */
export function readObjectBody(request: TransportRequest, refuse: Refusal): Body {
  const type = mediaTypeOf(request);
  if (type === 'application/yaml') return parseYaml(bodyText(request), refuse);
  if (type === '' || type === 'application/json') return parseJson(bodyText(request), refuse);
  const protobuf = 'application/vnd.kubernetes.protobuf';
  const { body } = request;
  if (type === protobuf && body !== undefined && typeof body !== 'string') {
    const value = objectFromProtobuf(body);
    if (value !== undefined) return { value, duplicates: [], text: '' };
  }
  throw unsupportedMediaType([...objectMediaTypes, protobuf]);
}

/**
 * Parses JSON.
 * @throws StatusError the error of `refuse`: malformed, or too deep.
 */
export function parseJson(text: string, refuse: Refusal): Body {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse(jsonProblem(text), text);
  }
  const { duplicates, depth } = scanJson(text);
  if (depth > depthLimit) throw refuse('exceeded max depth', text);
  return { value, duplicates, text };
}

const excerptLength = 30;

/** Returns the start of a text that looks like an object, else the start of its bytes in hexadecimal. */
function excerpt(text: string): string {
  if (text === '') return '<empty>';
  const shown = text.trimStart().startsWith('{') ? text : Buffer.from(text).toString('hex');
  return shown.length <= excerptLength ? shown : `${shown.slice(0, excerptLength)} ...`;
}

/**
 * Parses YAML; JSON is YAML too.
 * @throws StatusError 400: malformed, or too deep.
 */
export function parseYaml(text: string, refuse: Refusal): Body {
  if (text.trimStart().startsWith('{')) return parseJson(text, refuse);
  let json: string;
  try {
    const document = parseDocument(checkYamlDepth(text, 'the body'), { uniqueKeys: false });
    const [error] = document.errors;
    if (error !== undefined) throw error;
    // Convert to JSON: values that JSON lacks (dates, cycles) become text or an error.
    json = JSON.stringify(document.toJS({ maxAliasCount: 100 }) ?? null);
  } catch (error) {
    throw badRequest(`error decoding YAML: ${(error as Error).message}`);
  }
  return parseJson(json, refuse);
}

/**
 * Reads a body that should be an object of `kind`.
 * @throws StatusError 400, 413 or 415.
 */
export function readObject(request: TransportRequest, kind: string): RawObject {
  const refuse = refuseObject(kind);
  const body = readObjectBody(request, refuse);
  return { value: objectOf(body, refuse), duplicates: body.duplicates };
}

/**
 * Returns the body as a JSON object; null counts as an empty object.
 * @throws StatusError 400: it is another value.
 */
export function objectOf(
  { value, text }: Body,
  refuse: Refusal,
): Readonly<Record<string, unknown>> {
  if (isJsonObject(value)) return value;
  if (value === null) return {};
  const type = `struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
  throw refuse(`json: cannot unmarshal ${jsonTypeName(value)} into Go value of type ${type}`, text);
}
