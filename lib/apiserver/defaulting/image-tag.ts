/**
 * The tag of an image: `latest` where it has neither tag nor digest, empty where it has a digest
 * only.
 */
export function imageTag(image: string): string {
  const at = image.indexOf('@');
  const name = at < 0 ? image : image.slice(0, at);
  const colon = name.lastIndexOf(':');
  // A colon in front of the last slash belongs to the registry's port.
  if (colon > name.lastIndexOf('/')) return name.slice(colon + 1);
  return at < 0 ? 'latest' : '';
}
