/** Words of `health`. */
export const health = {}
