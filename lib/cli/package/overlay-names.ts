import { dns1123LabelProblem } from '../../object/index.js';
import { UsageError } from '../usage-error.js';

const imagePattern =
  /^[\w.-]+(?::\d+(?=\/))?(?:\/[\w.-]+)*(?<tag>:[\w.-]+)?(?<digest>@\w+:[\da-f]+)?$/;

/**
 * Returns an image with the default tag made explicit: else it would get that of `config/manager`.
 * @throws UsageError invalid image, such as the text of an unset variable
 */
export function imageWithTag(image: string): string {
  const { groups } = imagePattern.exec(image) ?? {};
  if (groups === undefined) {
    const wanted = 'want an image, such as registry.example/shop:1.2.0';
    throw new UsageError(`--image: ${wanted}, got ${JSON.stringify(image)}`);
  }
  const { tag, digest } = groups as Readonly<Record<string, string | undefined>>;
  return tag === undefined && digest === undefined ? `${image}:latest` : image;
}

/** @throws UsageError invalid namespace */
export function checkNamespaceOption(namespace: string): void {
  const problem = dns1123LabelProblem(namespace);
  if (problem !== undefined) throw new UsageError(`--namespace: ${problem}`);
}
