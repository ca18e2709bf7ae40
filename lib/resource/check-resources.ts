/** Returns the problem with a list of resources, or undefined. Plain JavaScript can pass anything. */
export function faultInResources(resources: unknown): string | undefined {
  if (!Array.isArray(resources)) return 'resources: want an array';
  if (resources.length === 0) return 'no resources: want at least one';
  const list = resources as readonly unknown[];
  return firstOf(list.map(faultInResource)) ?? faultInNames('resource', list as readonly Named[]);
}

interface Named {
  readonly name: string;
}

/** Returns the problem with the names of `list`, or undefined if all differ. */
export function faultInNames(what: string, list: readonly Named[]): string | undefined {
  const names = list.map(({ name }) => name);
  const twice = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  if (twice.size === 0) return undefined;
  return `more than one ${what} is named ${[...twice].join(', ')}: want a name of its own for each`;
}

/** Whether `value` is a valid name: a string that is not empty. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function faultInResource(resource: unknown, index: number): string | undefined {
  const where = `resources[${index}]`;
  if (typeof resource !== 'object' || resource === null) return `${where}: want a resource`;
  const { name } = resource as { readonly name?: unknown };
  if (!isName(name)) return `${where}: its name is missing`;
  const missing = missingMethods(resource, ['ensureCreated', 'ensureDeleted']);
  return missing.length === 0 ? undefined : `resource ${name}: no method ${missing.join(', ')}`;
}

/** Returns those of `methods` that the object lacks. */
export function missingMethods(object: object, methods: readonly string[]): readonly string[] {
  const members = object as Readonly<Record<string, unknown>>;
  return methods.filter((method) => typeof members[method] !== 'function');
}

function firstOf(faults: readonly (string | undefined)[]): string | undefined {
  return faults.find((fault) => fault !== undefined);
}
