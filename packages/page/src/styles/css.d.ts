/** Vite puts a style sheet that a lazily loaded module imports into a file of its own. */
declare module '*.css'
