/** Returns the tag of an image: `latest` without tag and digest, empty with only a digest. */
export function imageTag(image: string): string {
  const at = image.indexOf('@');
  const name = at < 0 ? image : image.slice(0, at);
  const colon = name.lastIndexOf(':');
  // A colon before the last slash belongs to the registry's port.
  if (colon > name.lastIndexOf('/')) return name.slice(colon + 1);
  return at < 0 ? 'latest' : '';
}
