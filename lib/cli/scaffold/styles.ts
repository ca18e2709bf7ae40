/** How a controller may be written. */
export const styles = ['builder', 'resources', 'lifecycle'] as const;

/** One of {@link styles}. */
export type Style = (typeof styles)[number];
