export const dimensions: number
export function embed(text: string): Float32Array
