%matplotlib inline
%config InlineBackend.figure_format = 'retina'
x = 2
