/** The optional package where it is not installed; nothing but the module itself is handed on. */
declare module 'pdfjs-dist/legacy/build/pdf.mjs'
